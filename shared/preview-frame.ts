/** The page in which what is not to be trusted is shown; at the root of the app's files. */
export const FRAME_FILE = 'frame.html';

/**
 * What its response says beside its policy. `Connection-Allowlist`: the browser makes no connection for it and for what it shows, WebRTC, preconnects
 * and name look-ups included (WICG, "Connection Allowlists"). `Server-Timing`: the page itself sees that this came with it, which it has no other way
 * to know (W3C, "Server Timing", section 3), and shows nothing without.
 */
export const FRAME_HEADERS = { 'connection-allowlist': '()', 'server-timing': 'closed' } as const;
