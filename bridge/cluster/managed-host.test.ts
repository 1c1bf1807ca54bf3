import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { Room } from '../headless/room.ts';
import { Hosts } from '../server/hosts.ts';
import { ManagedHost } from './managed-host.ts';

describe('the only place for a managed browser', () => {
  verifies('cluster.serving/vaults', 'is kept for the home’s own vault until another bridge serves that', async () => {
    const room = new Room(1);
    const managed = (hasFirstChoice: boolean): ManagedHost =>
      new ManagedHost(
        new Hosts(),
        { executable: '', profile: '', origin: '', credential: () => ({ id: '', secret: '' }), log: () => {} },
        { room, hasFirstChoice },
      );
    const own = managed(true);
    const other = managed(false);
    expect([own.hasRoom, other.hasRoom]).toEqual([true, false]);
    await expect(other.start()).rejects.toThrow('the limit of managed browsers is reached');
    await own.stop();
    expect([own.hasRoom, other.hasRoom]).toEqual([true, true]);
  });
});
