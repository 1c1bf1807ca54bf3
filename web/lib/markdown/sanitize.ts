import DOMPurify from 'dompurify';

/** Elements that an answer may have. Nothing that loads, runs, styles or submits. */
const TAGS = (
  'a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary ' +
  'sup table tbody td tfoot th thead tr u ul'
).split(' ');
const ATTRIBUTES = ['href', 'src', 'alt', 'title', 'class', 'align', 'start', 'colspan', 'rowspan', 'open', 'lang', 'dir'];

/** Nodes of an answer's HTML that are safe to insert. Addresses of pictures and links are not checked here. */
export const sanitize = (html: string): DocumentFragment =>
  DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
