import { defineConfig } from 'vite';

// dist/ is what the gateway embeds: index.html, and every other file named by its hash so that it may be cached for ever.
export default defineConfig({
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // These know light-dark() and nesting by themselves.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    sourcemap: false,
    // The content security policy allows no data: scripts, and a wasm module must be a file to be compiled as it comes.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: {
    // `npx vite` beside a gateway: set EDGECASK_HTTP to its address.
    proxy: { '/resp': { target: process.env['EDGECASK_HTTP'] ?? 'http://127.0.0.1:8080', ws: true } },
  },
});
