import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// As strict as the app's, since page control must work under it.
const CSP = "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

const PAGE_SCRIPT = `
globalThis.perchHost = {
  async attach(credential) {
    const response = await fetch('/attached', { method: 'POST', body: JSON.stringify(credential) });
    if ((await response.text()) === 'reload') location.reload();
  },
};`;

interface Attachment {
  id: string;
  secret: string;
}

/** Serves a host page and records attachments, in place of the gateway. */
export class StubHostPage {
  readonly attached: Attachment[] = [];
  /** Answers to future attachments: `reload` makes the page reload. */
  readonly answers: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<StubHostPage> {
    const server = createServer();
    const standIn = new StubHostPage(server);
    server.on('request', (request, response) => {
      response.setHeader('content-security-policy', CSP);
      if (request.url === '/host')
        return void response.setHeader('content-type', 'text/html').end('<!doctype html><script src="/host.js"></script>');
      if (request.url === '/host.js') return void response.setHeader('content-type', 'text/javascript').end(PAGE_SCRIPT);
      if (request.url !== '/attached') return void response.writeHead(404).end();
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.end(standIn.answers.shift() ?? 'ok');
        standIn.attached.push(JSON.parse(body) as Attachment);
        server.emit('attached');
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return standIn;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Resolves after `count` attachments. */
  async attachments(count: number): Promise<Attachment[]> {
    while (this.attached.length < count) await once(this.#server, 'attached');
    return this.attached;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface ProcessEntry {
  pid: number;
  args: string[];
}

/** Lists all processes with their parents (Linux). Chromium joins the arguments of its children with spaces. */
function listProcesses(): (ProcessEntry & { parent: number })[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split(/[\0 ]/);
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [{ pid: Number(name), args, parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }];
      } catch {
        return [];
      }
    });
}

/** Browser processes found below one that names a folder, which are looked for even after that one has ended. */
const findChildren = new Map<number, { folder: string; line: string }>();

/**
 * Returns the processes whose arguments contain a folder, with pid and arguments, and the browser processes below them: a headless shell's
 * renderers do not name its profile.
 */
export function findProcesses(folder: string): ProcessEntry[] {
  const all = listProcesses();
  const found = new Set(all.filter(({ args }) => args.some((arg) => arg.includes(folder))).map(({ pid }) => pid));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent, args } of all)
      if (found.has(parent) && !found.has(pid) && args.some((arg) => arg.startsWith('--type='))) {
        found.add(pid);
        findChildren.set(pid, { folder, line: args.join(' ') });
      }
  }
  return all
    .filter(({ pid, args }) => {
      const child = findChildren.get(pid);
      return found.has(pid) || (child?.folder === folder && child.line === args.join(' '));
    })
    .map(({ pid, args }) => ({ pid, args }));
}

/** Polls until a condition is true. Limited by the test's own timeout. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}
