/**
 * Redirect address for authorization by another service (RFC 6749, section 4.1.2): at the bridge, which passes the request to the active
 * host.
 */
export const OAUTH_CALLBACK_PATH = '/oauth/callback';
