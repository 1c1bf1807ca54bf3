/** Light and dark as the reader has it, in the colours of the app (web/app.css). */
const STYLE = [
  ':root{color-scheme:light dark;background:light-dark(#f5f2ec,#191918);color:light-dark(#24211c,#ecebe7);font:1rem/1.5 system-ui,sans-serif}',
  'body{margin:0;padding:min(18vh,8rem) 1rem 2rem}',
  'main{box-sizing:border-box;max-width:28rem;margin:auto;padding:1.75rem;border:1px solid light-dark(#e2dcd1,#363632);border-radius:14px;background:light-dark(#fff,#1e1e1c);overflow-wrap:anywhere}',
  'header{display:flex;align-items:center;gap:.5rem;margin-bottom:1.25rem;color:light-dark(#5d574d,#b5b2aa);font-weight:600}',
  'h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.25;text-wrap:balance}',
  'p{margin:0;text-wrap:pretty}',
].join('');
/** Hash of `STYLE`, so that no other style is applied. A test compares them. */
const STYLE_HASH = 'sha256-ANae85+JObRzUnUrVxTiVsVS7/sFfffR7JqHIbf33Dg=';

/** The bird of public/favicon.svg. */
const LOGO_SVG =
  '<svg width="28" height="28" viewBox="0 0 64 64" aria-hidden="true"><rect width="64" height="64" rx="15" fill="#0d6577"/><g fill="#fdfcfa" transform="translate(0 2)"><path d="M19 20.5c0-5.2 4.3-9.5 9.5-9.5 4.4 0 8.1 3 9.2 7.1C45.6 20.5 51 27.4 51 35.7V43c0 1.1-.9 2-2 2H36.5C26.8 45 19 37.2 19 27.5z"/><path d="M18.2 19.6v6.2l-6.9-1.5c-1.4-.3-1.6-2.2-.3-2.8z" fill="#f0b453"/><rect x="9" y="44.2" width="46" height="4.6" rx="2.3" fill="#f0b453"/><circle cx="27.5" cy="20.5" r="2.3" fill="#0d6577"/></g></svg>';

export interface Notice {
  status: number;
  title: string;
  /** Sentences for the reader; may contain untrusted text. */
  text: string;
  headers?: Record<string, string>;
}

/** A page with a single message: plain text, no script, and no external resources. */
export function renderNoticePage({ status, title, text, headers = {} }: Notice): {
  status: number;
  headers: Record<string, string>;
  body: string;
} {
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)} · Perch</title><style>${STYLE}</style></head><body><main><header>${LOGO_SVG}Perch</header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></main></body></html>`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      ...headers,
    },
    body,
  };
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
