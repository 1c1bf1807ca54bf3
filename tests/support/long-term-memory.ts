import { systemClock } from '../../shared/async/clock.ts';
import { LONG_TERM_FILE } from '../../web/gateway/knowledge/memory/layout.ts';
import { LongTermFile } from '../../web/gateway/knowledge/memory/long-term-file.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import { createVaultWorkspace } from '../../web/gateway/agent/workspace/vault-workspace.ts';

/** Long-term memory of a workspace's agents in the vault. */
export const getLongTermMemory = (vault: Vault, workspace = 'main'): LongTermFile =>
  new LongTermFile(createVaultWorkspace({ vault, clock: systemClock }, workspace), LONG_TERM_FILE);
