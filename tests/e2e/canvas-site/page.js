// A page as a programmer would write it: the library, and nothing else of Perch.
import * as ui from 'perch/ui';

globalThis.ui = ui;
/** Puts a canvas or panel into the page. */
globalThis.show = (made) => {
  document.body.replaceChildren(made.element);
  return (globalThis.shown = made);
};
/** A picture's size and the colours of pixels in it, as `#rrggbbaa`. @param {Uint8Array} bytes @param {[number, number][]} points */
globalThis.pixels = async (bytes, points, type = 'image/png') => {
  const image = await createImageBitmap(new Blob([bytes], { type }));
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const hex = ([x, y]) => `#${[...context.getImageData(x, y, 1, 1).data].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  return { size: [image.width, image.height], colors: points.map(hex) };
};
/** An SVG's pixels. @param {string} svg @param {[number, number][]} points */
globalThis.svgPixels = async (svg, points) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext('2d').drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob();
  return globalThis.pixels(new Uint8Array(await blob.arrayBuffer()), points);
};
/** A picture of two halves, red and blue, as a PNG's data URL. */
globalThis.halves = async (width, height) => {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#ff0000';
  context.fillRect(0, 0, width / 2, height);
  context.fillStyle = '#0000ff';
  context.fillRect(width / 2, 0, width / 2, height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}`;
};
