import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { BrowserSemaphore } from '../headless/browser-semaphore.ts';
import { HostRegistry } from '../server/hosts.ts';
import { ManagedHost } from './managed-host.ts';

describe('the only place for a managed browser', () => {
  verifies('cluster.serving/vaults', 'is kept for the home’s own vault until another bridge serves that', async () => {
    const room = new BrowserSemaphore(1);
    const managed = (reservesPlace: boolean): ManagedHost =>
      new ManagedHost(
        new HostRegistry(),
        { executable: '', profile: '', origin: '', credential: () => ({ id: '', secret: '' }), log: () => {} },
        { room, reservesPlace },
      );
    const own = managed(true);
    const other = managed(false);
    expect([own.hasPermit, other.hasPermit]).toEqual([true, false]);
    await expect(other.start()).rejects.toThrow('the limit of managed browsers is reached');
    await own.stop();
    expect([own.hasPermit, other.hasPermit]).toEqual([true, true]);
  });
});
