import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupPort } from '#shared/ports/backup-port.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import { configFilePort } from '#shared/ports/config-file-port.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import { filesPort } from '#shared/ports/files-port.ts';
import { linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import { secretsPort } from '#shared/ports/secrets-port.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { createBackupHandlers } from '../../bridge/capabilities/backup-handlers.ts';
import { createBrowserHandlers } from '../../bridge/capabilities/browser/browser-handlers.ts';
import { BrowserProfiles } from '../../bridge/capabilities/browser/browser-profiles.ts';
import { createConfigFileHandlers } from '../../bridge/capabilities/config-file-handlers.ts';
import { createFoldersHandlers } from '../../bridge/capabilities/folders/folders-handlers.ts';
import { createWorkspaceHandlers } from '../../bridge/capabilities/files/workspace-handlers.ts';
import { createSecretsHandlers } from '../../bridge/capabilities/secrets/secrets-handlers.ts';
import { NeuralVoices } from '../../bridge/capabilities/speech/neural-voices.ts';
import { createSpeechHandlers } from '../../bridge/capabilities/speech/speech-handlers.ts';
import { createWebHandlers } from '../../bridge/capabilities/web-handlers.ts';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { createDesktopHandlers } from '../../bridge/capabilities/desktop/desktop-handlers.ts';
import { execPort } from '#shared/ports/exec-port.ts';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { oauthPort } from '#shared/ports/oauth-port.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import { createExecHandlers } from '../../bridge/capabilities/exec/exec-handlers.ts';
import { createMcpHandlers } from '../../bridge/capabilities/mcp/mcp-handlers.ts';
import { createOauthHandlers } from '../../bridge/capabilities/oauth-handlers.ts';
import { createDiskModels } from '../../bridge/capabilities/models/disk-models.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { Home } from '../../bridge/home-directory.ts';
import { createLinkedBrowsersHandlers } from '../../bridge/server/linked-browsers.ts';
import { openJournal } from '../../bridge/journal/open-journal.ts';
import { FakeBridge, createCapability } from './fake-bridge.ts';

const VAULT_KEY = 'k'.repeat(43);

/** The core's bridge with the real one's ports, in its own home; only the uplink is an in-memory link. */
export async function createRealBridge() {
  const home = mkdtempSync(join(tmpdir(), 'perch-home-'));
  const journal = await openJournal({ dir: home, vaultKey: VAULT_KEY, log: () => {} });
  await journal.open({ origin: 'test', schema: SCHEMA_VERSION, position: null });
  const log = (): void => {};
  const openHome = await Home.open({ dir: home });
  const linked = { secret: 's'.repeat(43), createdAt: 1_700_000_000_000, name: 'Chrome 156 on Linux' };
  await openHome.addCredentials([
    { ...linked, id: 'app-Wm3kX9a2LqTz', kind: 'app' },
    { ...linked, id: 'host-Wm3kX9a2LqTz', kind: 'host' },
  ]);
  const keeper = new ProcessKeeper(log);
  // An unreachable hub.
  const models = createDiskModels({ home, keeper, log, env: { HF_ENDPOINT: 'http://127.0.0.1:1' } });
  const bridge = new FakeBridge(
    createCapability(foldersPort, createFoldersHandlers({ home, keeper, ownFolder: home })),
    createCapability(
      linkedBrowsersPort,
      createLinkedBrowsersHandlers({ home: openHome, auth: { remove: () => {}, isOpen: () => false }, log }),
    ),
    createCapability(configFilePort, createConfigFileHandlers(home)),
    createCapability(filesPort, createWorkspaceHandlers({ home })),
    // Only tests with a browser use it.
    createCapability(
      browserPort,
      createBrowserHandlers(
        new BrowserProfiles({ dir: join(home, 'profiles', 'browser'), log: () => {}, find: () => Promise.resolve(null) }),
      ),
    ),
    createCapability(backupPort, createBackupHandlers({ journal, vaultKey: VAULT_KEY, home })),
    createCapability(secretsPort, createSecretsHandlers({ home, hide: () => {}, log: () => {}, keeper })),
    createCapability(webPort, createWebHandlers()),
    createCapability(execPort, createExecHandlers({ home, keeper })),
    createCapability(mcpPort, createMcpHandlers({ home, keeper })),
    createCapability(
      speechPort,
      createSpeechHandlers({ engines: [], neural: new NeuralVoices({ socket: 'ws://127.0.0.1:1', voices: 'http://127.0.0.1:1' }) }),
    ),
    createCapability(ggufPort, models.running),
    createCapability(modelDownloadsPort, models.downloads.handlers),
    createCapability(oauthPort, createOauthHandlers('http://127.0.0.1:7333')),
    // Only tests with a screen use it.
    createCapability(desktopPort, createDesktopHandlers({ keeper, env: { PATH: process.env['PATH'] } })),
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
