// A tool server by hand, without the kit that others use: it behaves as its first argument says.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Message = { id?: number | string; method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown };

const [way = 'plain', about = ''] = process.argv.slice(2);
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const schema = { type: 'object', properties: { text: { type: 'string' } } };
const text = (said: string): object => ({ content: [{ type: 'text', text: said }] });

/** For `changing`: read each time, so that a test can change it. */
const descriptionNow = (): string => (way === 'changing' ? readFileSync(about, 'utf8') : 'Says again what it is told');

function toolsNow(): object[] {
  const tool = (name: string, more: object = {}): object => ({ name, description: descriptionNow(), inputSchema: schema, ...more });
  switch (way) {
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

const pending = new Map<number, (message: Message) => void>();
let asked = 0;
function ask(method: string, params: object = {}): Promise<Message> {
  const id = ++asked;
  send({ id, method, params });
  return new Promise((resolve) => pending.set(id, resolve));
}

async function callTool(
  id: Message['id'],
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
      return send({ id, result: text(JSON.stringify((await ask('elicitation/create', args)).result ?? 'refused')) });
    case 'model': {
      const { result, error } = await ask('sampling/createMessage', args);
      return send({ id, result: text(JSON.stringify(result ?? error)) });
    }
    case 'roots':
      return send({ id, result: text(JSON.stringify((await ask('roots/list')).result)) });
    case 'change':
      send({ method: 'notifications/tools/list_changed' });
      return send({ id, result: text('changed') });
    default:
      return send({ id, result: text(`${String(args['text'])}`) });
  }
}

/** Reports cancelled calls on standard error. */
const note = (line: string): void => void process.stderr.write(`${line}\n`);

function answer({ id, method, params = {}, ...rest }: Message): void {
  if (method === undefined) {
    pending.get(Number(id))?.({ ...rest });
    return;
  }
  if (method === 'notifications/cancelled') return note(`cancelled ${JSON.stringify(params['requestId'])}`);
  if (id === undefined) return;
  if (method === 'initialize') {
    if (way === 'silent') return;
    const version = way === 'other-version' ? '1999-01-01' : params['protocolVersion'];
    if (way === 'wrong-id') return send({ id: 'not yours', result: {} });
    if (way === 'no-result') return send({ id });
    return send({
      id,
      result: { protocolVersion: version, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'by hand', version: '1' } },
    });
  }
  if (method === 'tools/list') {
    if (way === 'list-fails') return send({ id, error: { code: -32603, message: 'no list today' } });
    if (way === 'list-silent') return;
    if (way === 'endless-list') return send({ id, result: { tools: toolsNow().slice(0, 1), nextCursor: String(Math.random()) } });
    return send({ id, result: { tools: toolsNow() } });
  }
  if (method === 'tools/call') return void callTool(id, params);
  if (method === 'ping') return send({ id, result: {} });
  send({ id, error: { code: -32601, message: 'Method not found' } });
}

const FLOOD =
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1000) } })}\n`.repeat(50);

note(`begun ${way}`);
switch (way) {
  case 'huge-line':
    process.stdout.write('x'.repeat(6 * 1024 * 1024));
    break;
  case 'flood':
    setInterval(() => process.stdout.write(FLOOD), 1);
    break;
  case 'flood-blindly':
    for (;;) process.stdout.write(FLOOD);
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
    // Children in groups of their own that do not listen to being asked.
    for (let i = 0; i < 3; i++) {
      spawn(process.execPath, ['-e', `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); // ${about}`], {
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
    note('I cannot go on');
    process.exit(3);
}
if (way === 'does-not-read') setInterval(() => {}, 1000);
else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    try {
      answer(JSON.parse(line) as Message);
    } catch (error) {
      note(String(error));
    }
  });
}
