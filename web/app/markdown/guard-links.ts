import { isComposed, type LinkPolicy } from '../trust/composed-links.ts';

/**
 * Removes the address of links that the model composed, and restores it if a later policy knows it. Without `href` a browser neither opens
 * the link nor resolves its host ahead of a click.
 */
export function guardLinks(element: HTMLElement, policy: LinkPolicy | undefined): void {
  for (const link of element.querySelectorAll('a')) {
    const url = getComposedUrl(link) ?? link.href;
    if (policy && URL.parse(url)?.origin !== location.origin && isComposed(url, policy)) withholdUrl(link, url);
    else if (getComposedUrl(link) !== undefined) restoreUrl(link, url);
  }
}

/** Address of a link that `guardLinks` has removed. */
export const getComposedUrl = (link: HTMLElement): string | undefined => link.dataset['composed'];

function withholdUrl(link: HTMLAnchorElement, url: string): void {
  link.dataset['composed'] = url;
  link.removeAttribute('href');
  link.role = 'link';
  link.tabIndex = 0;
}

function restoreUrl(link: HTMLAnchorElement, url: string): void {
  link.href = url;
  delete link.dataset['composed'];
  link.removeAttribute('role');
  link.removeAttribute('tabindex');
}
