import DOMPurify from 'dompurify';

/** Elements that a reply may have: none that load resources, run scripts, set styles or submit forms. */
const ALLOWED_TAGS = (
  'a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary ' +
  'sup table tbody td tfoot th thead tr u ul'
).split(' ');
const ALLOWED_ATTRIBUTES = ['href', 'src', 'alt', 'title', 'class', 'align', 'start', 'colspan', 'rowspan', 'open', 'lang', 'dir'];

/** Sanitizes HTML of a reply. URLs of pictures and links are not checked here. */
export const sanitizeHtml = (html: string): DocumentFragment =>
  DOMPurify.sanitize(html, {
    ALLOWED_TAGS: ALLOWED_TAGS,
    ALLOWED_ATTR: ALLOWED_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
