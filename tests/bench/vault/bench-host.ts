import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import type { LinkResult } from '../../../shared/link/link-credentials.ts';
import type { TestBrowser } from '../../e2e/test-browser.ts';
import type { Perch } from '../../e2e/perch-process.ts';
import type { BenchApi, BenchReply, BenchRequest } from './vault-worker.ts';

const DIR = import.meta.dirname;

/** Replaces the change log with one that records nothing. */
const replaceChangeLog: Plugin = {
  name: 'unlogged',
  resolveId: (source, importer) =>
    source.endsWith('/change-log.ts') && importer !== join(DIR, 'unlogged.ts') ? join(DIR, 'unlogged.ts') : null,
};

/** The worker's program. `log`: false for a vault without its change log. */
async function bundleWorker(log: boolean): Promise<string> {
  const build = await rolldown({
    input: join(DIR, 'vault-worker.ts'),
    plugins: log ? [] : [replaceChangeLog],
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}

/** A worker of a real browser at the gateway's origin that runs `vault-worker.ts`. */
export interface BenchHost {
  call<N extends keyof BenchApi>(name: N, ...args: Parameters<BenchApi[N]>): Promise<Awaited<ReturnType<BenchApi[N]>>>;
}

export async function openWorker(browser: TestBrowser, perch: Perch, { log = true } = {}): Promise<BenchHost> {
  // Any document of this origin whose policy allows the worker.
  const page = await browser.page(`${perch.url}/health`);
  page.on(
    'console',
    (message) => message.type() === 'error' && !message.text().includes('404') && console.error(`bench host: ${message.text()}`),
  );
  // A shared worker, like the app's: the browser's driver then doesn't observe each of its socket messages.
  await page.evaluate(
    (code) => {
      const { port } = new SharedWorker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
      const waiting: PromiseWithResolvers<unknown>[] = [];
      port.onmessage = ({ data }: MessageEvent<BenchReply>) => {
        if ('problem' in data) console.error(data.problem);
        else if ('error' in data) waiting[data.id]?.reject(new Error(data.error));
        else waiting[data.id]?.resolve(data.value);
      };
      const bench = (name: string, args: unknown[]): Promise<unknown> => {
        const answer = Promise.withResolvers<unknown>();
        port.postMessage({ id: waiting.push(answer) - 1, name, args } satisfies BenchRequest);
        return answer.promise;
      };
      Object.assign(globalThis, { bench });
    },
    await bundleWorker(log),
  );
  return {
    call: (name, ...args) =>
      page.evaluate(
        ([called, given]) => (globalThis as unknown as { bench(name: string, args: unknown[]): Promise<unknown> }).bench(called, given),
        [name, args] as const,
      ) as never,
  };
}

/** Links a new host, like a browser that opens the printed URL. */
export async function linkHost(perch: Perch): Promise<{ url: string; id: string; secret: string }> {
  const code = new URLSearchParams(new URL(await perch.open()).hash.slice(1)).get('link');
  const response = await fetch(`${perch.url}/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: perch.url },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) throw new Error(`a host cannot be linked: ${await response.text()}`);
  const { host } = (await response.json()) as LinkResult;
  return { url: `${perch.url.replace(/^http/, 'ws')}/uplink`, ...host };
}
