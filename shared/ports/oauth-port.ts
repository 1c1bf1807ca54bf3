import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

export const oauthPort = definePort({
  kind: 'oauth',
  featureName: 'Signing in with OAuth',
  calls: {
    'oauth.callback': defineMethod({
      params: z.strictObject({}),
      result: z.object({ /** An absolute address, under the bridge’s canonical origin. */ redirectUri: z.url() }),
      docs: 'Returns the redirect URI for OAuth.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
