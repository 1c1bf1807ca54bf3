import type { incognito as contracts } from '#shared/rpc/methods/incognito.ts';
import type { Handlers } from '../dispatch.ts';
import type { IncognitoLater } from '../incognito/later.ts';

export const incognitoMethods = ({ incognito }: { incognito: IncognitoLater }): Handlers<typeof contracts> => ({
  'incognito.send': async (params, caller) => (await incognito.load()).send(params, caller),
  'incognito.abort': async ({ runId }, { principal }) => ({ aborted: (await incognito.load()).abort(principal, runId) }),
});
