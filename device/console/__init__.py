"""The console: the boxman's pages and the HTTP interface behind them."""
