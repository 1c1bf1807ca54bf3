import type { BridgeHealth, Linked } from '../../shared/link/proof.ts';
import type { Perch } from '../e2e/harness.ts';
import { connectOutside } from '../e2e/outside.ts';
import { until } from '../support/gateway.ts';

/** Health of the bridge; null if it does not answer. */
export async function healthOf(perch: Perch): Promise<BridgeHealth | null> {
  try {
    return (await (await fetch(`${perch.url}/health`)).json()) as BridgeHealth;
  } catch {
    return null;
  }
}

/** Waits until a host of this kind serves. */
export const serves = (perch: Perch, kind: 'tab' | 'headless'): Promise<void> =>
  until(async () => (await healthOf(perch))?.host === kind, `${kind} to serve`, 20_000);

/** Waits until `count` hosts are attached and have caught up. */
export function allReady(perch: Perch, count: number): Promise<void> {
  return until(
    async () => {
      if ((await healthOf(perch))?.hosts !== count) return false;
      using outside = await connectOutside(perch);
      const { hosts } = await outside.client.call('sync.status', {});
      return hosts.length === count && hosts.every(({ ready }) => ready);
    },
    `${count} hosts to be ready`,
    30_000,
  );
}

/** The credentials of a browser that a program plays. */
export async function linkProgram(perch: Perch): Promise<Linked> {
  const code = new URLSearchParams(new URL(await perch.open()).hash.slice(1)).get('link');
  const response = await fetch(`${perch.url}/link`, {
    method: 'POST',
    headers: { origin: perch.url, 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) throw new Error(`not linked: ${await response.text()}`);
  return (await response.json()) as Linked;
}
