// Lets the conformance suite, which knows no tokens, into a server that wants one: adds the token to every request and
// changes nothing else but the port in the names of the server.
//
//     node proxy.mjs URL TOKEN
//
// Prints its own address, and ends when its stdin does.

import http from 'node:http';

const [target, token] = [new URL(process.argv[2]), process.argv[3]];

const proxy = http.createServer((request, response) => {
    const rename = (name) => name?.replace(`:${proxy.address().port}`, `:${target.port}`);
    const headers = { ...request.headers, host: rename(request.headers.host), authorization: `Bearer ${token}` };
    if (headers.origin) {
        headers.origin = rename(headers.origin);
    }
    const { method } = request;
    const options = { host: '127.0.0.1', port: target.port, path: target.pathname + target.search, method, headers };
    const forwarded = http.request(options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://localhost:${proxy.address().port}/mcp`));
process.stdin.on('end', () => process.exit(0)).resume();
