import type { incognitoContracts as contracts } from '#shared/rpc/methods/incognito-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { LazyIncognito } from '../../agent/incognito/lazy-incognito.ts';

export const incognitoMethods = ({ incognito }: { incognito: LazyIncognito }): Handlers<typeof contracts> => ({
  'incognito.send': async (params, caller) => (await incognito.load()).send(params, caller),
  'incognito.abort': async ({ runId }, { principal }) => ({ aborted: (await incognito.load()).abort(principal, runId) }),
});
