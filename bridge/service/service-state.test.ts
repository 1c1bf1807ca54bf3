import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createTempFolder } from '../backup/fixture.ts';
import { startTestBridge } from '../server/tests/test-bridge.ts';
import { getServiceState } from './service-state.ts';

test.runIf(process.platform === 'linux')('a systemd user unit: whether it exists, and its state from systemctl', async () => {
  using config = createTempFolder();
  using bin = createTempFolder();
  vi.stubEnv('XDG_CONFIG_HOME', config.path);
  vi.stubEnv('PATH', bin.path);
  try {
    expect(await getServiceState(1)).toBe('not-installed');
    mkdirSync(join(config.path, 'systemd', 'user'), { recursive: true });
    writeFileSync(join(config.path, 'systemd', 'user', 'perch.service'), '[Unit]\n');
    // Without systemctl, a gateway that answers on the port counts.
    expect(await getServiceState(1)).toBe('stopped');
    await using bridge = await startTestBridge();
    const port = Number(new URL(bridge.url).port);
    expect(await getServiceState(port)).toBe('running');
    const systemctl = (script: string): void => writeFileSync(join(bin.path, 'systemctl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    systemctl('[ "$1 $2 $3" = "--user is-active perch.service" ] && echo active');
    expect(await getServiceState(1)).toBe('running');
    systemctl('echo inactive; exit 3');
    expect(await getServiceState(port)).toBe('stopped');
    // No user bus: prints nothing to standard output.
    systemctl('exit 1');
    expect(await getServiceState(port)).toBe('running');
  } finally {
    vi.unstubAllEnvs();
  }
});
