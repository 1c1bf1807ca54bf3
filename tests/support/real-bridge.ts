import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupPort } from '#shared/ports/backup.ts';
import { browserPort } from '#shared/ports/browser.ts';
import { configFilePort } from '#shared/ports/config-file.ts';
import { speechPort } from '#shared/ports/speech.ts';
import { webPort } from '#shared/ports/web.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { backupHandlers } from '../../bridge/capabilities/backup.ts';
import { browserHandlers } from '../../bridge/capabilities/browser/browser.ts';
import { BrowserProfiles } from '../../bridge/capabilities/browser/profiles.ts';
import { configFileHandlers } from '../../bridge/capabilities/config-file.ts';
import { NeuralVoices } from '../../bridge/capabilities/speech/neural.ts';
import { speechHandlers } from '../../bridge/capabilities/speech/speech.ts';
import { webHandlers } from '../../bridge/capabilities/web.ts';
import { execPort } from '#shared/ports/exec.ts';
import { execHandlers } from '../../bridge/capabilities/exec/exec.ts';
import { openJournal } from '../../bridge/journal/open.ts';
import { FakeBridge, lend } from './fake-bridge.ts';

const VAULT_KEY = 'k'.repeat(43);

/** The core's bridge with what the real one lends, in a home of its own; only the uplink between is a memory link. */
export async function realBridge() {
  const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
  const journal = await openJournal({ dir: home, vaultKey: VAULT_KEY, log: () => {} });
  await journal.open({ origin: 'test', schema: SCHEMA_VERSION, position: null });
  const bridge = new FakeBridge(
    lend(configFilePort, configFileHandlers(home)),
    // The browser itself is for tests that have one.
    lend(
      browserPort,
      browserHandlers(new BrowserProfiles({ dir: join(home, 'profiles', 'browser'), log: () => {}, find: () => Promise.resolve(null) })),
    ),
    lend(backupPort, backupHandlers({ journal, vaultKey: VAULT_KEY, home })),
    lend(webPort, webHandlers()),
    lend(execPort, execHandlers({ home, log: () => {} })),
    lend(speechPort, speechHandlers({ neural: new NeuralVoices({ socket: 'ws://127.0.0.1:1', voices: 'http://127.0.0.1:1' }) })),
  );
  return {
    bridge,
    home,
    journal,
    async [Symbol.asyncDispose]() {
      bridge.detach();
      await journal.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
