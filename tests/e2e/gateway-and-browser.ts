import { afterAll, beforeAll } from 'vitest';
import { type BrowserOptions, launchBrowser, type TestBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';

/** A gateway and a browser for all tests of a `describe`. */
export function useGatewayAndBrowser(options: BrowserOptions = {}): { readonly perch: Perch; readonly browser: TestBrowser } {
  const parts = new AsyncDisposableStack();
  const started: { perch?: Perch; browser?: TestBrowser } = {};
  beforeAll(async () => {
    started.perch = parts.use(await startPerch());
    started.browser = parts.use(await launchBrowser(options));
  });
  afterAll(() => parts.disposeAsync());
  const requireStarted = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('it is there once the tests run');
    return part;
  };
  return {
    get perch() {
      return requireStarted(started.perch);
    },
    get browser() {
      return requireStarted(started.browser);
    },
  };
}
