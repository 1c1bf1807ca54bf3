// An MCP server written without the SDK. Its first argument selects its behaviour.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type McpMessage = { id?: number | string; method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown };

const [mode = 'plain', option = ''] = process.argv.slice(2);
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const schema = { type: 'object', properties: { text: { type: 'string' } } };
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

/** For `changing`: read each time, so that a test can change it. */
const readDescription = (): string => (mode === 'changing' ? readFileSync(option, 'utf8') : 'Says again what it is told');

function listTools(): object[] {
  const tool = (name: string, fields: object = {}): object => ({ name, description: readDescription(), inputSchema: schema, ...fields });
  switch (mode) {
    case 'names':
      return [tool('a.b'), tool('a_b'), tool('x'.repeat(100)), tool('bad name'), tool('same'), tool('same')];
    case 'many':
      return Array.from({ length: 800 }, (_, at) => tool(`tool${at}`));
    case 'no-schema':
      return [{ name: 'say', description: 'Without a schema' }];
    case 'huge-schema':
      return [tool('say'), tool('huge', { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } })];
    default:
      return [tool('say'), tool('wait'), tool('die'), tool('fail'), tool('env'), tool('ask'), tool('model'), tool('roots'), tool('change')];
  }
}

const pending = new Map<number, (message: McpMessage) => void>();
let nextRequestId = 0;
function requestClient(method: string, params: object = {}): Promise<McpMessage> {
  const id = ++nextRequestId;
  send({ id, method, params });
  return new Promise((resolve) => pending.set(id, resolve));
}

async function callTool(
  id: McpMessage['id'],
  { name, arguments: args = {} }: { name?: string; arguments?: Record<string, unknown> },
): Promise<void> {
  switch (name) {
    case 'wait':
      return;
    case 'die':
      return process.exit(7);
    case 'fail':
      return send({ id, result: { ...text('It is broken'), isError: true } });
    case 'env':
      return send({ id, result: text(JSON.stringify({ env: process.env, cwd: process.cwd(), args: process.argv.slice(2) })) });
    case 'ask':
      return send({ id, result: text(JSON.stringify((await requestClient('elicitation/create', args)).result ?? 'refused')) });
    case 'model': {
      const { result, error } = await requestClient('sampling/createMessage', args);
      return send({ id, result: text(JSON.stringify(result ?? error)) });
    }
    case 'roots':
      return send({ id, result: text(JSON.stringify((await requestClient('roots/list')).result)) });
    case 'change':
      send({ method: 'notifications/tools/list_changed' });
      return send({ id, result: text('changed') });
    default:
      return send({ id, result: text(`${String(args['text'])}`) });
  }
}

/** Reports cancelled calls on standard error. */
const logCancelled = (line: string): void => void process.stderr.write(`${line}\n`);

function handleMessage({ id, method, params = {}, ...rest }: McpMessage): void {
  if (method === undefined) {
    pending.get(Number(id))?.({ ...rest });
    return;
  }
  if (method === 'notifications/cancelled') return logCancelled(`cancelled ${JSON.stringify(params['requestId'])}`);
  if (id === undefined) return;
  if (method === 'initialize') {
    if (mode === 'silent') return;
    const version = mode === 'other-version' ? '1999-01-01' : params['protocolVersion'];
    if (mode === 'wrong-id') return send({ id: 'not yours', result: {} });
    if (mode === 'no-result') return send({ id });
    return send({
      id,
      result: { protocolVersion: version, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'by hand', version: '1' } },
    });
  }
  if (method === 'tools/list') {
    if (mode === 'list-fails') return send({ id, error: { code: -32603, message: 'no list today' } });
    if (mode === 'list-silent') return;
    if (mode === 'endless-list') return send({ id, result: { tools: listTools().slice(0, 1), nextCursor: String(Math.random()) } });
    return send({ id, result: { tools: listTools() } });
  }
  if (method === 'tools/call') return void callTool(id, params);
  if (method === 'ping') return send({ id, result: {} });
  send({ id, error: { code: -32601, message: 'Method not found' } });
}

const FLOOD_BYTES =
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1000) } })}\n`.repeat(50);

logCancelled(`begun ${mode}`);
switch (mode) {
  case 'huge-line':
    process.stdout.write('x'.repeat(6 * 1024 * 1024));
    break;
  case 'flood':
    setInterval(() => process.stdout.write(FLOOD_BYTES), 1);
    break;
  case 'flood-blindly':
    for (;;) process.stdout.write(FLOOD_BYTES);
  case 'flood-stderr':
    setInterval(() => process.stderr.write('y'.repeat(60_000)), 1);
    break;
  case 'asks-without-end':
    setInterval(() => {
      for (let i = 0; i < 200; i++) send({ id: `p${i}`, method: 'ping' });
    }, 1);
    break;
  case 'junk':
    setInterval(() => process.stdout.write('{"jsonrpc":"2.0"\nHello!\n[]\n\0\n{}\n'), 20);
    break;
  case 'deep':
    process.stdout.write(`${'['.repeat(2_000_000)}\n`);
    break;
  case 'forks':
    // Child processes in their own groups that ignore SIGTERM.
    for (let i = 0; i < 3; i++) {
      spawn(process.execPath, ['-e', `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); // ${option}`], {
        detached: true,
        stdio: 'ignore',
      }).unref();
    }
    break;
  case 'stubborn':
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    break;
  case 'dies':
    logCancelled('I cannot go on');
    process.exit(3);
}
if (mode === 'does-not-read') setInterval(() => {}, 1000);
else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    try {
      handleMessage(JSON.parse(line) as McpMessage);
    } catch (error) {
      logCancelled(String(error));
    }
  });
}
