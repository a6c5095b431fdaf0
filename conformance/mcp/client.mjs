// A client on the MCP SDK for TypeScript, moved by lines of JSON, as client.py says it: it adds nothing of its own to what
// the SDK does. Version 2 of the SDK speaks 2026-07-28, version 1 the older revisions.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// The packages lie below the target folder, not beside this file.
const load = createRequire(`${process.env.DEMUR_MCP_MODULES}/package.json`);
const config = JSON.parse(process.argv[2]);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const isModern = ['modern', 'auto'].includes(config.tier);
const waiting = new Map();
let numbers = 0;

function elicit(request, context) {
    const number = ++numbers;
    return new Promise((resolve, reject) => {
        waiting.set(number, resolve);
        const signal = context?.mcpReq?.signal ?? context?.signal;
        signal?.addEventListener('abort', () => {
            waiting.delete(number);
            say({ withdrawn: number });
            reject(new Error('withdrawn'));
        });
        say({ elicit: number, request: request.params });
    });
}

function modern(capabilities, info) {
    const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const mode = config.tier === 'auto' ? 'auto' : { pin: '2026-07-28' };
    const client = new Client(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', elicit);
    return { client, StreamableHTTPClientTransport, StdioClientTransport };
}

function legacy(capabilities, info) {
    const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = load('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    if (capabilities.elicitation) {
        client.setRequestHandler(ElicitRequestSchema, elicit);
    }
    return { client, StreamableHTTPClientTransport, StdioClientTransport };
}

function transport({ StreamableHTTPClientTransport, StdioClientTransport }, server) {
    if (server.command) {
        const [command, ...args] = server.command;
        return new StdioClientTransport({ command, args, env: { ...process.env, ...server.env } });
    }
    const requestInit = { headers: { Authorization: `Bearer ${server.token}` } };
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
}

function call(client, line) {
    const params = { name: line.name, arguments: line.arguments ?? {} };
    const options = { onprogress: (progress) => say({ progress }) };
    if (line.timeout) {
        options.timeout = line.timeout * 1000;
    }
    if (line.do === 'call') {
        return isModern
            ? client.callTool(params, options)
            : client.callTool(params, undefined, options);
    }
    for (const member of ['inputResponses', 'requestState']) {
        if (line[member] !== undefined) {
            params[member] = line[member];
        }
    }
    return client.request({ method: 'tools/call', params }, { allowInputRequired: true });
}

const methods = {
    tools: (client) => client.listTools(),
    call,
    once: call,
    resources: (client) => client.listResources(),
    templates: (client) => client.listResourceTemplates(),
    read: (client, line) => client.readResource({ uri: line.uri }),
    prompts: (client) => client.listPrompts(),
    prompt: (client, line) => client.getPrompt({ name: line.name, arguments: line.arguments ?? {} }),
};

async function perform(client, line) {
    try {
        say({ id: line.id, result: await methods[line.do](client, line) });
    } catch (error) {
        say({ id: line.id, error: { code: error.code ?? null, message: error.message } });
    }
}

const capabilities = config.tier === 'plain' ? {} : { elicitation: { form: {}, url: {} } };
const parts = (isModern ? modern : legacy)(capabilities, { name: config.name, version: '1' });
const channel = transport(parts, config.server);
let version = config.tier === 'modern' ? '2026-07-28' : undefined;
const setVersion = channel.setProtocolVersion?.bind(channel);
channel.setProtocolVersion = (negotiated) => {
    version = negotiated;
    setVersion?.(negotiated);
};
await parts.client.connect(channel);
say({ ready: version ?? parts.client.getNegotiatedProtocolVersion?.() });
for await (const text of createInterface({ input: process.stdin })) {
    const line = JSON.parse(text);
    if (line.answer === undefined) {
        perform(parts.client, line);
    } else {
        waiting.get(line.answer)?.(line.result);
        waiting.delete(line.answer);
    }
}
await parts.client.close();
process.exit(0);
