import type { Page } from 'playwright';

/** Keeps the gateway of a page's browser from starting, like a slow older one; the result releases it. A running gateway continues. */
export async function holdGatewayLock(page: Page): Promise<{ acquired: Promise<void>; letGo(): Promise<void> }> {
  const holder = await page.evaluateHandle(() => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const { promise: over, resolve: letGo } = Promise.withResolvers<void>();
    void navigator.locks.request('perch-gateway', () => (resolve(), over));
    const channel = new BroadcastChannel('perch-gateway');
    channel.onmessage = () => channel.postMessage({ type: 'draining', from: 'an older one', build: 'older' });
    return { held, letGo };
  });
  return { acquired: holder.evaluate(({ held }) => held), letGo: () => holder.evaluate(({ letGo }) => letGo()) };
}
