import type { BridgeHealth, LinkResult } from '../../shared/link/link-credentials.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { connectOutside } from '../e2e/outside-client.ts';
import { waitFor } from '../support/test-gateway.ts';

/** Health of the bridge; null if it does not answer. */
export async function fetchHealth(perch: Perch): Promise<BridgeHealth | null> {
  try {
    return (await (await fetch(`${perch.url}/health`)).json()) as BridgeHealth;
  } catch {
    return null;
  }
}

/** Waits until a host of this kind serves. */
export const waitForActiveHost = (perch: Perch, kind: 'tab' | 'headless'): Promise<void> =>
  waitFor(async () => (await fetchHealth(perch))?.host === kind, `${kind} to serve`, 20_000);

/** Waits until `count` hosts are attached and have caught up. */
export function waitForHosts(perch: Perch, count: number): Promise<void> {
  return waitFor(
    async () => {
      if ((await fetchHealth(perch))?.hosts !== count) return false;
      using outside = await connectOutside(perch);
      const { hosts } = await outside.client.call('sync.status', {});
      return hosts.length === count && hosts.every(({ ready }) => ready);
    },
    `${count} hosts to be ready`,
    30_000,
  );
}

/** The credentials of a browser that a program plays. */
export async function linkProgramAsDevice(perch: Perch): Promise<LinkResult> {
  const code = new URLSearchParams(new URL(await perch.open()).hash.slice(1)).get('link');
  const response = await fetch(`${perch.url}/link`, {
    method: 'POST',
    headers: { origin: perch.url, 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) throw new Error(`not linked: ${await response.text()}`);
  return (await response.json()) as LinkResult;
}
