import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A program that behaves like `mlx_lm.server`, controlled by the last message. */
const PROGRAM = `#!/usr/bin/env node
const { createServer } = require('node:http');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
if (!existsSync(join(option('--model'), 'config.json'))) { console.error('no model'); process.exit(1); }
if (existsSync(join(option('--model'), 'broken.txt'))) { console.error('ValueError: broken weights'); process.exit(1); }
createServer((request, response) => {
  if (request.url === '/v1/models') return response.end('{"object":"list","data":[]}');
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const asked = JSON.parse(body);
    const last = asked.messages.at(-1).content;
    if (last === 'die') process.exit(3);
    if (last === 'refuse') return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"no"}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (value) => response.write('data: ' + JSON.stringify(value) + '\\n\\n');
    const delta = (delta, finish_reason = null) => say({ choices: [{ index: 0, delta, finish_reason }] });
    if (last === 'garbage') return response.end('data: {nonsense\\n\\n');
    if (last === 'hang') return delta({ content: 'wait' });
    if (last === 'half') { delta({ content: 'half' }); return response.end(); }
    if (last === 'cut') { delta({ content: 'half' }); return setImmediate(() => response.destroy()); }
    if (asked.tools) delta({ tool_calls: [{ index: 0, id: 'x', function: { name: asked.tools[0].function.name, arguments: '{"a":1}' } }] }, 'tool_calls');
    else {
      for (const content of ['You said ', last, ' to ', asked.model]) delta({ role: 'assistant', content });
      delta({}, asked.max_tokens === 1 ? 'length' : 'stop');
    }
    if (asked.stream_options) say({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11, prompt_tokens_details: { cached_tokens: 3 } } });
    response.end('data: [DONE]\\n\\n');
  });
}).listen(Number(option('--port')), option('--host'));
`;

/** A folder with the program, to prepend to PATH. */
export function createMlxProgram() {
  const dir = mkdtempSync(join(tmpdir(), 'perch-mlx-'));
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'mlx_lm.server'), PROGRAM);
  chmodSync(join(dir, 'mlx_lm.server'), 0o755);
  return {
    env: { ...process.env, PATH: `${dir}${delimiter}${process.env['PATH'] ?? ''}` },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}
