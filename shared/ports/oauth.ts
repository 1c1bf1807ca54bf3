import { call } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/**
 * Redirect address for authorization by another service (RFC 6749, section 4.1.2): at the bridge, which passes the request to the active
 * host.
 */
export const OAUTH_CALLBACK = '/oauth/callback';

export const oauthPort = port({
  kind: 'oauth',
  what: 'Signing in with OAuth',
  calls: {
    'oauth.callback': call({
      params: z.strictObject({}),
      result: z.object({ /** An absolute address, under the bridge’s canonical origin. */ redirectUri: z.url() }),
      docs: 'Returns the redirect URI for OAuth.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
