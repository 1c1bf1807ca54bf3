const APP_PATH = /^\/(?!\/)/;

function rewriteLink(link: Element): void {
  const href = link.getAttribute('href');
  if (href !== null && APP_PATH.test(href)) link.setAttribute('href', `#${href}`);
}

/** In a build with hash routes: rewrites links to paths of the app to hash links, which work in a new tab too. */
export function observeLinks(root: Element): void {
  const rewriteLinks = (node: Node): void => {
    if (!(node instanceof Element)) return;
    if (node.matches('a[href]')) rewriteLink(node);
    node.querySelectorAll('a[href]').forEach(rewriteLink);
  };
  rewriteLinks(root);
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'attributes') rewriteLinks(target);
      else addedNodes.forEach(rewriteLinks);
    }
  }).observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['href'] });
}
