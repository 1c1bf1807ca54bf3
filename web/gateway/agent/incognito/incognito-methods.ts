import { incognitoContracts as contracts } from '#shared/rpc/methods/incognito-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { IncognitoService } from './incognito-service.ts';
import type { Lazy } from '../../system/modules.ts';

export const incognitoMethods = defineMethods(contracts)(({ incognito }: { incognito: Lazy<IncognitoService> }) => ({
  'incognito.send': async (params, caller) => (await incognito.load()).send(params, caller),
  'incognito.abort': async ({ runId }, { principal }) => ({ aborted: (await incognito.load()).abort(principal, runId) }),
}));
