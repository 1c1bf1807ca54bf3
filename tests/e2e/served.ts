import { afterAll, beforeAll } from 'vitest';
import { type BrowserOptions, launchBrowser, type TestBrowser } from './browser.ts';
import { type Perch, startPerch } from './harness.ts';

/** A gateway and a browser for all tests of a `describe`. */
export function served(options: BrowserOptions = {}): { readonly perch: Perch; readonly browser: TestBrowser } {
  const parts = new AsyncDisposableStack();
  const made: { perch?: Perch; browser?: TestBrowser } = {};
  beforeAll(async () => {
    made.perch = parts.use(await startPerch());
    made.browser = parts.use(await launchBrowser(options));
  });
  afterAll(() => parts.disposeAsync());
  const there = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('it is there once the tests run');
    return part;
  };
  return {
    get perch() {
      return there(made.perch);
    },
    get browser() {
      return there(made.browser);
    },
  };
}
