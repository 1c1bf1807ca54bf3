export * from './canvas.ts';
export * from '../../kit/icons/icons.ts';
