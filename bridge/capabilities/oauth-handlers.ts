import type { oauthPort } from '#shared/ports/oauth-port.ts';
import type { PortHandlers } from './serve-port.ts';

/** `redirectUri`: URL of the bridge's callback. */
export const createOauthHandlers = (redirectUri: string): PortHandlers<typeof oauthPort.calls, typeof oauthPort.events> => ({
  'oauth.callback': async () => ({ redirectUri }),
});
