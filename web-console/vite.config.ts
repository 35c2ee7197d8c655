import { defineConfig } from 'vite';

// The gateway embeds dist/: index.html, and all other files with a hash in their names, so that browsers may cache them
// for ever.
export default defineConfig({
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // These browsers support light-dark() and nesting.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    sourcemap: false,
    // The content security policy allows no data: scripts, and only a wasm file can be compiled while it loads.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: {
    // `npx vite` beside a gateway: set EDGECASK_HTTP to its address.
    proxy: { '/resp': { target: process.env['EDGECASK_HTTP'] ?? 'http://127.0.0.1:8080', ws: true } },
  },
});
