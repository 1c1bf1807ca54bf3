import { Parser } from 'htmlparser2';

/** Files that are not pages. */
const NOT_PAGES = /\.(png|jpe?g|gif|svg|webp|avif|ico|css|js|mjs|json|xml|zip|gz|tar|tgz|exe|dmg|mp[34]|webm|woff2?|ttf)$/i;
const MAX_LINKS = 2000;

/** The address of a page, without what does not change its content. Undefined if it is not on the web. */
export function normalizePageUrl(address: string, base?: string): string | undefined {
  const url = URL.parse(address, base);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  url.hash = '';
  return url.href;
}

/** Links of an HTML page to other pages of the same site, unless the page asks programs not to follow them. */
export function findPageLinks(html: string, base: string): string[] {
  const links = new Set<string>();
  const { origin } = new URL(base);
  let isClosed = false;
  const parser = new Parser(
    {
      onopentag(name, { href, rel = '', name: key = '', content = '' }) {
        if (name === 'meta' && /^robots$/i.test(key) && /\b(nofollow|none)\b/i.test(content)) isClosed = true;
        if (name !== 'a' || href === undefined || links.size >= MAX_LINKS || /\bnofollow\b/i.test(rel)) return;
        const link = normalizePageUrl(href, base);
        if (link === undefined) return;
        const url = new URL(link);
        if (url.origin === origin && !NOT_PAGES.test(url.pathname)) links.add(link);
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(html);
  return isClosed ? [] : [...links];
}
