import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/**
 * Redirect address for authorization by another service (RFC 6749, section 4.1.2): at the bridge, which passes the request to the active
 * host.
 */
export const OAUTH_CALLBACK_PATH = '/oauth/callback';

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
