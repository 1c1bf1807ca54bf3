import type { oauthPort } from '#shared/ports/oauth.ts';
import type { PortHandlers } from '../server/serve-port.ts';

/** `redirectUri`: where browsers find the bridge again. */
export const oauthHandlers = (redirectUri: string): PortHandlers<typeof oauthPort.calls, typeof oauthPort.events> => ({
  'oauth.callback': async () => ({ redirectUri }),
});
