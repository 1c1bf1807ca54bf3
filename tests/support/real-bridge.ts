import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupPort } from '#shared/ports/backup.ts';
import { browserPort } from '#shared/ports/browser.ts';
import { configFilePort } from '#shared/ports/config-file.ts';
import { filesPort } from '#shared/ports/files.ts';
import { linkedBrowsersPort } from '#shared/ports/linked-browsers.ts';
import { secretsPort } from '#shared/ports/secrets.ts';
import { speechPort } from '#shared/ports/speech.ts';
import { webPort } from '#shared/ports/web.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { backupHandlers } from '../../bridge/capabilities/backup.ts';
import { browserHandlers } from '../../bridge/capabilities/browser/browser.ts';
import { BrowserProfiles } from '../../bridge/capabilities/browser/profiles.ts';
import { configFileHandlers } from '../../bridge/capabilities/config-file.ts';
import { filesHandlers } from '../../bridge/capabilities/files/files.ts';
import { secretsHandlers } from '../../bridge/capabilities/secrets/secrets.ts';
import { NeuralVoices } from '../../bridge/capabilities/speech/neural.ts';
import { speechHandlers } from '../../bridge/capabilities/speech/speech.ts';
import { webHandlers } from '../../bridge/capabilities/web.ts';
import { desktopPort } from '#shared/ports/desktop.ts';
import { desktopHandlers } from '../../bridge/capabilities/desktop/desktop.ts';
import { execPort } from '#shared/ports/exec.ts';
import { mcpPort } from '#shared/ports/mcp.ts';
import { ggufPort } from '#shared/ports/gguf.ts';
import { oauthPort } from '#shared/ports/oauth.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import { execHandlers } from '../../bridge/capabilities/exec/exec.ts';
import { mcpHandlers } from '../../bridge/capabilities/mcp/mcp.ts';
import { oauthHandlers } from '../../bridge/capabilities/oauth.ts';
import { modelsOfDisk } from '../../bridge/capabilities/models/models-of-disk.ts';
import { Keeper } from '../../bridge/processes/keep.ts';
import { Home } from '../../bridge/home.ts';
import { linkedBrowsersHandlers } from '../../bridge/server/linked-browsers.ts';
import { openJournal } from '../../bridge/journal/open.ts';
import { FakeBridge, lend } from './fake-bridge.ts';

const VAULT_KEY = 'k'.repeat(43);

/** The core's bridge with the real one's ports, in its own home; only the uplink is an in-memory link. */
export async function realBridge() {
  const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
  const journal = await openJournal({ dir: home, vaultKey: VAULT_KEY, log: () => {} });
  await journal.open({ origin: 'test', schema: SCHEMA_VERSION, position: null });
  const log = (): void => {};
  const kept = await Home.open({ dir: home });
  const linked = { secret: 's'.repeat(43), createdAt: 1_700_000_000_000, name: 'Chrome 156 on Linux' };
  await kept.addCredentials([
    { ...linked, id: 'app-Wm3kX9a2LqTz', kind: 'app' },
    { ...linked, id: 'host-Wm3kX9a2LqTz', kind: 'host' },
  ]);
  const keeper = new Keeper(log);
  // An unreachable hub.
  const models = modelsOfDisk({ home, keeper, log, env: { HF_ENDPOINT: 'http://127.0.0.1:1' } });
  const bridge = new FakeBridge(
    lend(linkedBrowsersPort, linkedBrowsersHandlers({ home: kept, auth: { remove: () => {}, isOpen: () => false }, log })),
    lend(configFilePort, configFileHandlers(home)),
    lend(filesPort, filesHandlers({ home })),
    // The browser itself is for tests that have one.
    lend(
      browserPort,
      browserHandlers(new BrowserProfiles({ dir: join(home, 'profiles', 'browser'), log: () => {}, find: () => Promise.resolve(null) })),
    ),
    lend(backupPort, backupHandlers({ journal, vaultKey: VAULT_KEY, home })),
    lend(secretsPort, secretsHandlers({ home, hide: () => {}, log: () => {}, keeper })),
    lend(webPort, webHandlers()),
    lend(execPort, execHandlers({ home, keeper })),
    lend(mcpPort, mcpHandlers({ home, keeper })),
    lend(
      speechPort,
      speechHandlers({ engines: [], neural: new NeuralVoices({ socket: 'ws://127.0.0.1:1', voices: 'http://127.0.0.1:1' }) }),
    ),
    lend(ggufPort, models.running),
    lend(modelDownloadsPort, models.downloads.handlers),
    lend(oauthPort, oauthHandlers('http://127.0.0.1:7333')),
    // A screen is for tests that have one.
    lend(desktopPort, desktopHandlers({ keeper, env: { PATH: process.env['PATH'] } })),
  );
  return {
    bridge,
    home,
    journal,
    async [Symbol.asyncDispose]() {
      bridge.detach();
      await models.close();
      await journal.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}
