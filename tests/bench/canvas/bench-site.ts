import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright';
import { rolldown } from 'rolldown';
import { launchBrowser, type TestBrowser } from '../../e2e/test-browser.ts';

const root = join(import.meta.dirname, '../../..');

/** Compressed sizes in kilobytes. */
export interface CompressedSize {
  readonly gzip: number;
  readonly brotli: number;
}

const bundleScript = async (input: string, external: readonly string[] = []): Promise<string> => {
  const build = await rolldown({ cwd: root, input, platform: 'browser', external: [...external], logLevel: 'warn' });
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false });
  await build.close();
  return output[0].code;
};

/** Measures the size of `perch/ui` without and with the parts of Fabric that it uses. */
export async function measureBundleSizes(): Promise<{ ours: CompressedSize; full: CompressedSize }> {
  const weigh = (code: string): CompressedSize => ({
    gzip: gzipSync(code, { level: 9 }).length / 1024,
    brotli: brotliCompressSync(code).length / 1024,
  });
  return {
    ours: weigh(await bundleScript('web/library/ui/index.ts', ['fabric/es'])),
    full: weigh(await bundleScript('web/library/ui/index.ts')),
  };
}

export interface BenchSite extends AsyncDisposable {
  readonly browser: TestBrowser;
  readonly page: Page;
}

/** A page with both contestants, which shows one at a time. */
export async function openBenchSite(): Promise<BenchSite> {
  const code = await bundleScript('tests/bench/canvas/canvas-page.ts');
  const browser = await launchBrowser({ viewport: { width: 1920, height: 1080 } });
  const page = await browser.page();
  await page.route('https://bench.test/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><style>body{margin:0}</style><body></body>' }),
  );
  await page.goto('https://bench.test/');
  await page.addScriptTag({ type: 'module', content: code });
  await page.waitForFunction(() => 'bench' in globalThis);
  return { browser, page, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
}
