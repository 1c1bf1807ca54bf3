// The first script of every document that is shown in public/frame.html; it is put in as text. It tells the app what happens there, and closes
// what policies leave open where a browser knows no Connection-Allowlist. What it uses is taken before other scripts can change it.
(() => {
  const MOST_TOLD = 200;
  const MOST_CHARS = 500;
  const { stringify } = JSON;
  const cut = Function.prototype.call.bind(String.prototype.slice);
  const text = String;
  const { port1: line, port2 } = new MessageChannel();
  const post = line.postMessage.bind(line);
  let told = 0;

  const tell = (message) => post(stringify(message));
  const note = (level, words) => {
    if (++told <= MOST_TOLD) tell({ kind: 'note', level, text: cut(words, 0, MOST_CHARS) });
  };

  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) Object.defineProperty(window, name, { value: undefined });

  // Its address is the app's frame's: a link to a place within it would leave it.
  addEventListener('click', (event) => {
    const href = event.target?.closest?.('a[href^="#"]')?.getAttribute('href');
    if (!href || event.defaultPrevented) return;
    event.preventDefault();
    const place = document.getElementById(decodeURIComponent(cut(href, 1)));
    if (place) place.scrollIntoView();
    else scrollTo(0, 0);
  });

  addEventListener('error', (event) => event.message && note('error', event.message));
  addEventListener('unhandledrejection', (event) => note('error', `Unhandled rejection: ${text(event.reason)}`));
  addEventListener('securitypolicyviolation', (event) => note('blocked', `${event.effectiveDirective}: ${event.blockedURI}`));
  for (const level of ['log', 'info', 'warn', 'error']) {
    const before = console[level].bind(console);
    console[level] = (...parts) => {
      before(...parts);
      note(level, parts.map(shown).join(' '));
    };
  }

  function shown(value) {
    if (typeof value !== 'object' || value === null || value instanceof Error) return text(value);
    try {
      return stringify(value);
    } catch {
      return text(value);
    }
  }

  // A broken or truncated drawing is an empty page. Checked in the first animation frame: before that, the browser may not have laid out a
  // page that runs in another process.
  addEventListener('load', () =>
    requestAnimationFrame(() => {
      const drawn = document.querySelector('svg')?.getBBox();
      if (!drawn?.width && !drawn?.height) tell({ kind: 'undrawn' });
    }),
  );
  addEventListener('keydown', (event) => event.isTrusted && event.key === 'Escape' && !event.defaultPrevented && tell({ kind: 'escape' }));
  line.onmessage = () => tell({ kind: 'pong' });
  addEventListener('pagehide', () => post('leaving'));
  parent.postMessage('guard', '*', [port2]);

  // A frame without an origin has no storage, so many small programs would fail at their first line. This one lasts until the page closes.
  for (const name of ['localStorage', 'sessionStorage']) {
    const kept = new Map();
    const storage = {
      getItem: (key) => kept.get(text(key)) ?? null,
      setItem: (key, value) => void kept.set(text(key), text(value)),
      removeItem: (key) => void kept.delete(text(key)),
      clear: () => kept.clear(),
      key: (index) => [...kept.keys()][index] ?? null,
      get length() {
        return kept.size;
      },
    };
    Object.defineProperty(window, name, { value: storage });
  }
})();
