// Draws diagrams with Mermaid in a document that is not to be trusted (docs/decisions/0058); it is put in as text. Asked with the library, then with
// sources; each answer is JSON.
(() => {
  const { port1: line, port2 } = new MessageChannel();
  const PLACE = 'diagram';
  /** A transparent pixel. */
  const EMPTY_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  const PICTURES = ['img', 'image', 'feImage'];

  // Mermaid loads the pictures of nodes to measure them: those from elsewhere are not asked for.
  const toInner = (address) => (/^\s*data:image\//i.test(address) ? address : EMPTY_PICTURE);
  const isSource = ({ localName }, name) => PICTURES.includes(localName) && /^(?:.*:)?(?:src|href)$/i.test(name);
  const { src } = Object.getOwnPropertyDescriptors(HTMLImageElement.prototype);
  Object.defineProperty(HTMLImageElement.prototype, 'src', {
    ...src,
    set(address) {
      src.set.call(this, toInner(address));
    },
  });
  const { setAttribute, setAttributeNS } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    setAttribute.call(this, name, isSource(this, name) ? toInner(value) : value);
  };
  Element.prototype.setAttributeNS = function (namespace, name, value) {
    setAttributeNS.call(this, namespace, name, isSource(this, name) ? toInner(value) : value);
  };

  line.onmessage = async ({ data: { library, source, look, mostPx } }) => {
    line.postMessage(JSON.stringify(library ? await load(library) : await draw(source, look, mostPx)));
  };
  parent.postMessage('worker', '*', [port2]);

  function load(library) {
    const { promise, resolve } = Promise.withResolvers();
    const src = URL.createObjectURL(library);
    const script = Object.assign(document.createElement('script'), { src, onload: resolve, onerror: resolve });
    document.head.append(script);
    return promise.then(({ type }) => ({ kind: type === 'load' ? 'loaded' : 'unavailable' }));
  }

  async function draw(source, { background, variables }, mostPx) {
    // Words as text of the picture: what shows pictures need not know HTML.
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      // Settings that a source may not change: styles could load from elsewhere.
      secure: ['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'suppressErrorRendering', 'maxEdges', 'themeCSS'],
      suppressErrorRendering: true,
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      theme: 'base',
      fontFamily: variables.fontFamily,
      themeVariables: variables,
    });
    try {
      const { svg, diagramType } = await mermaid.render(PLACE, source);
      return { kind: 'drawn', type: diagramType, ...sized(svg, background, mostPx) };
    } catch (error) {
      return {
        kind: 'mistake',
        // `hash.line` is counted from 0 and is where the parser stopped, as in its message; `loc` is the token read before.
        line: error?.hash?.line === undefined ? null : error.hash.line + 1,
        text: String(error?.message ?? error).slice(0, 2_000),
      };
    }
  }

  /** A standalone picture: with its own size in CSS pixels, and a background. */
  function sized(svg, background, mostPx) {
    const root = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
    const { width, height } = root.viewBox.baseVal;
    if (!(Math.max(width, height) <= mostPx)) throw new Error(`The picture would be ${width} by ${height} pixels`);
    root.setAttribute('width', width);
    root.setAttribute('height', height);
    root.removeAttribute('style');
    root.style.backgroundColor = background;
    return { svg: new XMLSerializer().serializeToString(root), width, height };
  }
})();
