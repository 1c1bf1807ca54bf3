import type { Page } from 'playwright';
import type { HostStatus } from '../../shared/ports/host-api.ts';
import type { MethodName, MethodParams, MethodResult } from '../../shared/rpc/methods/index.ts';

/** Connection state of a page. */
export interface PageConnectionState {
  state: 'connecting' | 'online' | 'waiting';
  transport: 'bridge' | 'browser' | null;
  bridge: 'unknown' | 'reachable' | 'stopped';
  problem: string | null;
  isLinked: boolean;
  host: HostStatus | null;
}

// As text, for the test runner would rewrite `import` in a function. A module that is loaded already is not run again.
const FIND_GATEWAY = `(async () => {
  if (globalThis.perchTest) return;
  const links = [...document.querySelectorAll('link[rel=modulepreload]')].map(({ href }) => href);
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  for (const url of new Set([...links, ...loaded])) {
    if (!/\\/_app\\/.*\\/(chunks|nodes|entry)\\/.*\\.js$/.test(url)) continue;
    for (const found of Object.values(await import(url)))
      if (typeof found === 'object' && found !== null && 'generation' in found && 'retryAt' in found) globalThis.perchTest = found;
  }
  if (!globalThis.perchTest) throw new Error('the page has no connection to a gateway');
})()`;

/** Calls a method over the page's own connection. Rejects as that does, or because the page is gone. */
export async function callFromPage<M extends MethodName>(page: Page, method: M, params: MethodParams<M>): Promise<MethodResult<M>> {
  await page.evaluate(FIND_GATEWAY);
  const answer = await page.evaluate(`perchTest.call(${JSON.stringify(method)}, ${JSON.stringify(params)})`);
  return answer as MethodResult<M>;
}

export async function getConnectionState(page: Page): Promise<PageConnectionState> {
  await page.evaluate(FIND_GATEWAY);
  const connectionState = await page.evaluate(
    `(({ state, transport, bridge, problem, host }) => ({ state, transport, bridge: bridge.state, isLinked: bridge.isLinked, problem, host }))(perchTest)`,
  );
  return connectionState as PageConnectionState;
}
