import { provenanceContracts } from '#shared/rpc/methods/provenance-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import { defineMethods } from '../../../system/methods.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { Agents } from '../../agents.ts';
import { createVaultWorkspace } from '../../workspace/vault-workspace.ts';
import { findOwnerWorkspace } from '../memory/find-owner-workspace.ts';
import type { LongTermMemories } from '../memory/long-term-memories.ts';
import type { Wikis } from '../wiki/wikis.ts';
import type { Provenance } from './provenance.ts';
import type { ProvenanceReader } from './provenance-reader.ts';

interface ProvenanceMethodsDeps {
  vault: Pick<Vault, 'files' | 'messages' | 'collection'>;
  clock: Pick<Clock, 'now'>;
  agents: Agents;
  provenance: Lazy<Provenance>;
  longTermMemories: Lazy<LongTermMemories>;
  wikis: Lazy<Wikis>;
}

export const provenanceMethods = defineMethods(provenanceContracts)((deps: ProvenanceMethodsDeps) => {
  const openReader = async (owner: { agentId: string; projectId?: string | undefined }): Promise<ProvenanceReader> => {
    const { vault, provenance, longTermMemories, wikis } = deps;
    const workspace = await findOwnerWorkspace(deps, owner);
    const [{ ProvenanceReader: Reader }, ...parts] = await Promise.all([
      import('./provenance-reader.ts'),
      provenance.load(),
      longTermMemories.load(),
    ]);
    return new Reader({
      provenance: parts[0],
      longTermMemories: parts[1],
      // Projects have no wiki.
      listClaims: async () => (owner.projectId === undefined ? (await wikis.load()).getWiki(owner.agentId).vault.claims.listClaims() : []),
      files: createVaultWorkspace(deps, workspace),
      workspace,
      messages: vault.messages,
    });
  };
  return {
    'provenance.get': async ({ kind, name, ...owner }) => (await openReader(owner)).getChain(kind, name),
    'provenance.check': async (owner) => (await openReader(owner)).check(),
  };
});
