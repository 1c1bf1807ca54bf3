/** The page that shows untrusted content; at the root of the app's files. */
export const FRAME_FILE = 'frame.html';

/**
 * Response headers in addition to its policy. `Connection-Allowlist`: the browser makes no connection for it or its content, including
 * WebRTC, preconnects and DNS lookups (WICG, "Connection Allowlists"). `Server-Timing`: lets the page itself check that this header arrived
 * (W3C, "Server Timing", section 3); without it the page shows nothing.
 */
export const FRAME_HEADERS = { 'connection-allowlist': '()', 'server-timing': 'closed' } as const;
