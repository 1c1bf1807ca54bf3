import { isComposed, type LinkPolicy } from '#lib/trust/composed-links.ts';

/**
 * Removes the address of links that the model composed, and restores it if a later policy knows it. Without `href` a browser neither opens
 * the link nor resolves its host ahead of a click.
 */
export function guardLinks(element: HTMLElement, policy: LinkPolicy | undefined): void {
  for (const link of element.querySelectorAll('a')) {
    const url = composedUrl(link) ?? link.href;
    if (policy && URL.parse(url)?.origin !== location.origin && isComposed(url, policy)) hold(link, url);
    else if (composedUrl(link) !== undefined) release(link, url);
  }
}

/** The address of a link that `guardLinks` holds back. */
export const composedUrl = (link: HTMLElement): string | undefined => link.dataset['composed'];

function hold(link: HTMLAnchorElement, url: string): void {
  link.dataset['composed'] = url;
  link.removeAttribute('href');
  link.role = 'link';
  link.tabIndex = 0;
}

function release(link: HTMLAnchorElement, url: string): void {
  link.href = url;
  delete link.dataset['composed'];
  link.removeAttribute('role');
  link.removeAttribute('tabindex');
}
