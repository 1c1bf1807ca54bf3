import { join } from 'node:path';
import type { Worker } from 'playwright';
import { type Plugin, rolldown } from 'rolldown';
import type { Linked } from '../../../shared/link/proof.ts';
import type { TestBrowser } from '../../e2e/browser.ts';
import type { Perch } from '../../e2e/harness.ts';
import type { BenchApi } from './worker.ts';

const DIR = import.meta.dirname;

/** In the place of the change log's notes: nothing is noted. */
const unlogged: Plugin = {
  name: 'unlogged',
  resolveId: (source, importer) =>
    source.endsWith('/change-log.ts') && importer !== join(DIR, 'unlogged.ts') ? join(DIR, 'unlogged.ts') : null,
};

/** The worker's program. `log`: false for a vault without its change log. */
async function bundle(log: boolean): Promise<string> {
  const build = await rolldown({ input: join(DIR, 'worker.ts'), plugins: log ? [] : [unlogged], platform: 'browser', logLevel: 'warn' });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}

/** A worker of a real browser, at the gateway's own origin, that does what `worker.ts` can. */
export interface BenchHost {
  call<N extends keyof BenchApi>(name: N, ...args: Parameters<BenchApi[N]>): Promise<Awaited<ReturnType<BenchApi[N]>>>;
}

export async function openWorker(browser: TestBrowser, perch: Perch, { log = true } = {}): Promise<BenchHost> {
  // Any document of this origin that has no policy against a worker of ours.
  const page = await browser.page(`${perch.url}/health`);
  page.on(
    'console',
    (message) => message.type() === 'error' && !message.text().includes('404') && console.error(`bench host: ${message.text()}`),
  );
  const code = await bundle(log);
  const started: Promise<Worker> = page.waitForEvent('worker');
  await page.evaluate((text) => void new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))), code);
  const worker = await started;
  return {
    call: (name, ...args) =>
      worker.evaluate(
        ([called, given]) => {
          const { bench } = globalThis as unknown as { bench: Record<string, (...values: readonly unknown[]) => unknown> };
          return bench[called]?.(...given);
        },
        [name, args] as const,
      ) as never,
  };
}

/** Links a new host, as a browser is linked that opens the printed address. */
export async function linkHost(perch: Perch): Promise<{ url: string; id: string; secret: string }> {
  const code = new URLSearchParams(new URL(await perch.open()).hash.slice(1)).get('link');
  const response = await fetch(`${perch.url}/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: perch.url },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) throw new Error(`a host cannot be linked: ${await response.text()}`);
  const { host } = (await response.json()) as Linked;
  return { url: `${perch.url.replace(/^http/, 'ws')}/uplink`, ...host };
}
