// The parts of the app that put content of others on a page, bundled by `untrusted-content.test.ts`.
export { toSvgFile } from '../../web/app/markdown/diagrams/svg-picture.ts';
export { guardLinks } from '../../web/app/markdown/guard-links.ts';
export { renderMarkdown } from '../../web/app/markdown/render-markdown.ts';
export { sanitizeHtml } from '../../web/app/markdown/sanitize-html.ts';
export { toTrustedScriptUrl } from '../../web/app/connection/trusted-script-url.ts';
