const APP_PATH = /^\/(?!\/)/;

function rewriteLink(link: Element): void {
  const href = link.getAttribute('href');
  if (href !== null && APP_PATH.test(href)) link.setAttribute('href', `#${href}`);
}

/** In a build with hash routes: keeps links to paths of the app such that they lead behind the `#`, in a new tab too. */
export function observeLinks(root: Element): void {
  const within = (node: Node): void => {
    if (!(node instanceof Element)) return;
    if (node.matches('a[href]')) rewriteLink(node);
    node.querySelectorAll('a[href]').forEach(rewriteLink);
  };
  within(root);
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'attributes') within(target);
      else addedNodes.forEach(within);
    }
  }).observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['href'] });
}
