import type { incognito as contracts } from '#shared/rpc/methods/incognito.ts';
import type { Handlers } from '../dispatch.ts';
import type { Incognito } from '../incognito/incognito.ts';

export const incognitoMethods = ({ incognito }: { incognito: Incognito }): Handlers<typeof contracts> => ({
  'incognito.send': (params, caller) => incognito.send(params, caller),
  'incognito.abort': ({ runId }, { principal }) => ({ aborted: incognito.abort(principal, runId) }),
});
