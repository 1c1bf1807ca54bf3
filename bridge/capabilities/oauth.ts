import { OAUTH_CALLBACK, type oauthPort } from '#shared/ports/oauth.ts';
import type { PortHandlers } from '../server/serve-port.ts';

/** `origin`: the canonical one, where browsers find the bridge. */
export const oauthHandlers = (origin: string): PortHandlers<typeof oauthPort.calls, typeof oauthPort.events> => ({
  'oauth.callback': async () => ({ redirectUri: `${origin}${OAUTH_CALLBACK}` }),
});
