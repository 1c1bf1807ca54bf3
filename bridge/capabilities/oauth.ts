import type { oauthPort } from '#shared/ports/oauth.ts';
import type { PortHandlers } from '../server/serve-port.ts';

/** `redirectUri`: URL of the bridge's callback. */
export const oauthHandlers = (redirectUri: string): PortHandlers<typeof oauthPort.calls, typeof oauthPort.events> => ({
  'oauth.callback': async () => ({ redirectUri }),
});
