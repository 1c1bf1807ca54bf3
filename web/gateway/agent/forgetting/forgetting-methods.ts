import { forgettingContracts } from '#shared/rpc/methods/forgetting-contracts.ts';
import { truncateText } from '#shared/truncate-text.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { Agents } from '../agents.ts';
import { findOwnerWorkspace } from '../knowledge/memory/find-owner-workspace.ts';
import type { Forgetting } from './forgetting.ts';

interface ForgettingMethodsDeps {
  forgetting: Lazy<Forgetting>;
  agents: Agents;
  vault: Pick<Vault, 'collection'>;
}

/** Maximum characters of a text in a preview. */
const MAX_TEXT_CHARS = 300;

export const forgettingMethods = defineMethods(forgettingContracts)(({ forgetting, ...deps }: ForgettingMethodsDeps) => ({
  'forgetting.preview': async ({ memoryId, query, ...owner }, caller) => {
    requirePerson(caller, 'forget something');
    const workspace = await findOwnerWorkspace(deps, owner);
    const { pieces, remaining } = await (await forgetting.load()).preview({ workspace, memoryId, query });
    const shown = pieces.map(({ id, kind, place, text, reason }) => ({
      ...{ id, kind, place, text: truncateText(text, MAX_TEXT_CHARS), selected: reason === undefined },
      ...(reason === undefined ? {} : { reason }),
    }));
    return { pieces: shown, count: shown.length, remaining };
  },
  'forgetting.apply': async ({ memoryId, query, pieceIds, ...owner }, caller) => {
    requirePerson(caller, 'forget something');
    const workspace = await findOwnerWorkspace(deps, owner);
    return { report: await (await forgetting.load()).apply({ workspace, memoryId, query }, pieceIds) };
  },
  'forgetting.list': async (_params, caller) => {
    requirePerson(caller, 'read what was forgotten');
    const reports = await (await forgetting.load()).listReports();
    return { reports, count: reports.length };
  },
}));
