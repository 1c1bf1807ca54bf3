// A tool server that behaves correctly except for its script (scripts.ts).
import { createInterface } from 'node:readline';
import { type Message, SCRIPTS, type Voice } from './scripts.ts';

const [name = '', mark = ''] = process.argv.slice(2);
const script = SCRIPTS[name];
if (!script) throw new Error(`there is no script ${name}`);

const voice: Voice = {
  mark,
  raw: (bytes) => void process.stdout.write(bytes),
  send: (message) => voice.raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
  result: ({ id }, value) => voice.send({ id, result: value }),
};

const USUAL: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'tools/list': { tools: [{ name: 'say', description: 'Says something', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'as usual' }] },
  ping: {},
};

process.stdout.on('error', () => {});
script.start?.(voice);
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  const own = script.on?.[message.method ?? ''];
  if (own) return own(message, voice);
  if (message.id === undefined || message.method === undefined) return;
  const value = USUAL[message.method];
  if (value) voice.result(message, value);
  else voice.send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
});
