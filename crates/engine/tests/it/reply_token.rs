//! Reply tokens: of one form, different for every question, the same after a restart.

use std::collections::BTreeSet;

use demur_engine::reply_token::ReplyToken;

use crate::{asking::question, world::World};

/// AEP-05
#[test]
fn a_token_has_the_form_of_the_protocol_and_belongs_to_one_question() {
    let (mut world, first) = World::asked(question());
    let second = world.ask(question());
    let trace = world.run.state.tip().trace();
    let tokens: Vec<_> = [[7; 32], [8; 32]]
        .iter()
        .flat_map(|secret| [first, second].map(|asked| ReplyToken::of(secret, trace, &asked)))
        .collect();
    for token in &tokens {
        let rest = token.as_str().strip_prefix("rpl_").unwrap();
        assert!((1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(!format!("{token:?}").contains(rest), "it does not show in logs");
    }
    let distinct: BTreeSet<_> = tokens.iter().map(ReplyToken::as_str).collect();
    assert_eq!(distinct.len(), 4, "another question or another secret, another token");
    assert_eq!(ReplyToken::of(&[7; 32], trace, &first), tokens[0], "the same after a restart");
}

/// AEP-05
#[test]
fn only_the_whole_token_is_an_echo() {
    let (world, asked) = World::asked(question());
    let token = ReplyToken::of(&[7; 32], world.run.state.tip().trace(), &asked);
    assert!(token.is_echoed_by(token.as_str()));
    let whole = token.as_str();
    let mut wrong = vec![String::new(), "rpl_".to_owned(), whole.to_uppercase(), format!("{whole}0")];
    wrong.extend((0..whole.len()).map(|length| whole[..length].to_owned()));
    wrong.extend((0..whole.len()).map(|at| {
        let mut bytes = whole.as_bytes().to_vec();
        bytes[at] ^= 1;
        String::from_utf8(bytes).unwrap()
    }));
    for reply in wrong {
        assert!(!token.is_echoed_by(&reply), "{reply}");
    }
}
